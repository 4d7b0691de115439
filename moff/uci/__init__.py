"""The UCI conversation. Decides nothing about chess."""
