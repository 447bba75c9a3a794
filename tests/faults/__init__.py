"""The fault matrix: a process is killed, stopped or cut off at a random moment of a command.

    python -m tests.faults                          200 cells from a random seed, which is printed
    python -m tests.faults --seed 7 --cells 40      a smaller matrix
    python -m tests.faults --seed 7 --cell 12       repeats one cell
    python -m tests.faults --only postgres/worker   cells of one kind: TARGET/VICTIM/FAULT/PHASE

A cell runs the real command line in a world of its own, applies one fault from outside, and then
checks the end, the exit code, the named cause, the result file, what is left on the machine, the
rows in the database, and what the next commands say.
"""
