"""Everything that chooses a move. Knows nothing of standard input, standard output and UCI text."""

import x88  # decides between the compiled modules and their source before one is loaded
