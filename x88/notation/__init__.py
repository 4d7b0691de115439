"""Text in and out: squares, FEN, SAN, PGN, diagrams, games and their results."""
