"""Adding a model: the machine, the model, what it takes, the work, Windows Defender, first chat."""
