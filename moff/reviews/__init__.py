"""`moff review`: games with an evaluation for each move, marks for what it cost, and better lines."""
