"""Tools of the developers: they write generated parts of the documentation."""
