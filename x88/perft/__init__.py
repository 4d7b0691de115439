"""Perft: counting the leaves of the tree of legal moves, alone and on several threads."""
