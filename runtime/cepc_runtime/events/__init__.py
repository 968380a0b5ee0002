"""Events of a stretch: which letters they satisfy, in order of group and instant, and which of them are needed."""
