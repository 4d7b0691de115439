"""`moff board`: a page in the browser to play, to analyse, and to look at the generator."""
