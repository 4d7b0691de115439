"""Everything that chooses a move. Knows nothing of standard input, standard output and UCI text."""
