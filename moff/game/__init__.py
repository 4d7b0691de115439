"""A game being played: its session, players, clocks and file."""
