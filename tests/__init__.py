"""The tests, as a package: tests/mailbox.py must not take the name of the standard library's module."""
