"""The desktop app: PySide6 in front, the engine behind one door. Nothing here is imported by the
engine."""
