"""Search and evaluation: everything that chooses a move. Knows nothing of standard input, output or UCI."""

import x88  # chooses the compiled modules or their source before any is loaded
