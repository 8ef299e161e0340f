"""Learning: turning tokens and weights into gradients."""
