"""The tabs of the board page, by the names that they choose."""

import threading
import time
from collections.abc import Callable

from moff.page.tab import Tab

GRACE = 5.0
"""Seconds after which a tab without listeners stops its searches. A reloaded page is back sooner."""

MOST_TABS = 8
"""The maximum number of tabs kept; beyond it, the one left longest ago is dropped."""


class Tabs:
    """Tabs, each with a game and an analysis, kept for a while after closing, since they may come back."""

    def __init__(self, make_tab: Callable[[], Tab], grace: float = GRACE) -> None:
        self._make_tab = make_tab
        self._grace = grace
        self._lock = threading.Lock()
        self._tabs: dict[str, Tab] = {}
        self._listeners: dict[Tab, int] = {}
        self._left: dict[Tab, float] = {}
        self._timers: dict[Tab, threading.Timer] = {}

    def tab(self, name: str) -> Tab:
        """The tab of that name, a new one if there is none. Without a listener soon, its searches stop."""
        forgotten = None
        with self._lock:
            tab = self._tabs.get(name)
            if tab is None:
                if len(self._tabs) >= MOST_TABS:
                    forgotten = self._forget()
                tab = self._tabs[name] = self._make_tab()
                self._left[tab] = time.monotonic()
                self._listeners[tab] = 0
            if not self._listeners[tab]:
                self._wait_for_listener(tab)
        if forgotten is not None:
            forgotten.close()
        return tab

    def join(self, tab: Tab, listener: Callable[[str], object]) -> None:
        """Add a listener to a tab."""
        with self._lock:
            self._stop_waiting(tab)
            self._listeners[tab] = self._listeners.get(tab, 0) + 1
        tab.listen(listener)
        tab.resume()

    def leave(self, tab: Tab, listener: Callable[[str], object]) -> None:
        """Remove a listener. After the last one, the tab's searches end when the grace period is over."""
        tab.leave(listener)
        with self._lock:
            self._listeners[tab] -= 1
            self._left[tab] = time.monotonic()
            if not self._listeners[tab]:
                self._wait_for_listener(tab)

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            tabs = [*self._tabs.values()]
            for timer in self._timers.values():
                timer.cancel()
            self._tabs.clear()
        for tab in tabs:
            tab.close()

    def _wait_for_listener(self, tab: Tab) -> None:
        """Pause a tab after the grace period, unless it has a listener by then. Under the lock."""
        self._stop_waiting(tab)
        timer = self._timers[tab] = threading.Timer(self._grace, self._pause, (tab,))
        timer.daemon = True
        timer.start()

    def _stop_waiting(self, tab: Tab) -> None:
        timer = self._timers.pop(tab, None)
        if timer is not None:
            timer.cancel()

    def _pause(self, tab: Tab) -> None:
        with self._lock:
            if self._listeners.get(tab):
                return
        tab.pause()
        # A listener that has joined in between may have found it awake.
        with self._lock:
            is_left = not self._listeners.get(tab)
        if not is_left:
            tab.resume()

    def _forget(self) -> Tab | None:
        """Drop the tab that was left longest ago, if one was left."""
        alone = [name for name, tab in self._tabs.items() if not self._listeners.get(tab)]
        if not alone:
            return None
        tab = self._tabs.pop(min(alone, key=lambda name: self._left[self._tabs[name]]))
        self._listeners.pop(tab, None)
        self._left.pop(tab, None)
        self._stop_waiting(tab)
        return tab
