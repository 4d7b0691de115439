"""Search and evaluation: everything that chooses a move. Knows nothing about standard input, output and UCI."""

import x88  # chooses the compiled modules or their source before any is loaded
