"""What `import moff` offers, in the words of python-chess."""

import x88  # first: it chooses the build, and this package has compiled modules
