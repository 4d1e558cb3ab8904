"""What a notebook calls and what commands on plain files call: one function per analysis, and what it found.

Tables come as paths, as frames of any library, as mappings or as lists (`data.given`), options are arguments, and what
comes back is a `Result`. `import quintain as qt` offers these functions as `qt.aggregate`, `qt.score` and so on.
"""
