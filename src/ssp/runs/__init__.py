"""What a run is made from and what it leaves behind."""
