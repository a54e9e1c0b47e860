"""Error codes of the family `execution`: code -> (title, explanation)."""

CODES: dict[str, tuple[str, str]] = {
    "X0401": (
        "an access outside an argument's memory",
        """
A lane that is not masked off reads or writes before the first or after the last element of the memory that
the argument is a view of. The message counts elements from the pointer that was passed, so negative offsets
can be fine for a view that begins in the middle of its array.

    i = pid * 256 + tl.arange(0, 256)
    x = tl.load(p + i)                  # error in the last program, where the array ends

Fix: mask the lanes outside, or correct the arithmetic.

    x = tl.load(p + i, mask=i < n, other=0.0)
""",
    ),
    "X0402": (
        "an access through a pointer to nowhere",
        """
The address belongs to none of the kernel's arguments. It comes from a number that never was a pointer, from a
pointer of another launch, or from an offset of many terabytes.

    p = address.to(tl.pointer_type(tl.float32))         # `address` is a plain integer argument
    x = tl.load(p)                                      # error

Fix: pass the array as an argument, and check the offset for overflow.
""",
    ),
    "X0403": (
        "the use of lanes that were never read",
        """
A load with a mask but without `other` leaves the masked-off lanes undefined: on one chip they are 0, on
another what was there before. Storing such a lane, using it as an address or mask, branching on it or
printing it is an error when checks are on. The note names the load. Undefined lanes may be computed with, as
long as they are thrown away.

    x = tl.load(p + i, mask=i < n)
    tl.store(out, tl.max(x, axis=0))        # error: the maximum over undefined lanes

Fix: say what the lanes shall be, or choose with tl.where before reducing.

    x = tl.load(p + i, mask=i < n, other=-float("inf"))
""",
    ),
    "X0404": (
        "a race between programs",
        """
One program writes a byte that another one reads or writes, and nothing orders them: programs run in any
order, or at the same time. The result then depends on luck.

    tl.store(out, tl.sum(x, axis=0))            # every program of the grid writes out[0]

Fix: give every program its own elements (out + pid), or combine with an atomic operation.

    tl.atomic_add(out, tl.sum(x, axis=0))

What is done before an atomic operation is ordered before what another program does after an atomic operation
on the same address (unless sem="relaxed").
""",
    ),
    "X0405": (
        "a failed assertion",
        """
The condition of a tl.device_assert is false in a lane. The message is the kernel author's; program and line
are named.

    tl.device_assert(index < n, "index out of range")

Fix: what the author says. Assertions exist only in kernels compiled with debug=True.
""",
    ),
    "X0406": (
        "a write to a read-only argument",
        """
The kernel stores through a pointer to an array that numpy marks as read-only.

    x = np.broadcast_to(np.float32(1), (16,))
    kernel[(1,)](x)                 # error if the kernel stores through x

Fix: pass an array of its own: np.ascontiguousarray(x), or x.copy().
""",
    ),
    "X0407": (
        "a loop step that is not above zero",
        """
A loop counts upwards by a step above zero. A step known when compiling may be negative (the frontend turns
the loop around), one known only at run time may not.

    for k in range(0, n, step):         # error where step is 0 or negative
        ...

Fix: loop over a counter from 0 on, and compute the value from it.
""",
    ),
    "X0408": (
        "an atomic operation at an odd address",
        """
The address of an atomic operation must be a multiple of the element's size, counted from the argument.

    q = (p.to(tl.int64) + 2).to(tl.pointer_type(tl.int32))
    tl.atomic_add(q, 1)                 # error: two bytes into an element

Fix: move pointers by whole elements.
""",
    ),
}
