"""Positions as SVG."""
