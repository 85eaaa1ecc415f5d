"""Source models: Hugging Face folders and GGUF files. The door is `checkpoint.py`."""
