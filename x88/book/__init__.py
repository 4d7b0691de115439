"""Opening books in the Polyglot format: read, made and checked."""
