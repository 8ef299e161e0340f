"""Search agents: how they are spoken to and how what they say is read."""
