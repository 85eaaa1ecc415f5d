"""What the widgets show, kept on the GUI thread: signals out, plain methods in, no widgets here."""
