"""Syzygy endgame tablebases: their files, probes in the search, and ranking the moves of the root."""
