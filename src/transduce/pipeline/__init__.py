"""One function per verb: the only place where more than two parts meet."""
