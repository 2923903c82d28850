"""Contacts: impulses of what touches, with stops, dry friction and closed loops, as one problem a step.

  tables        what a step reads of contacts, and its memory
  motion        how bodies that touch move, and a contact with them
  search        the contacts of a step
  columns       their rows, and the Delassus operator
  problem       what the solver of cones is given, and what it found
  restitution   impacts in a step
  servos        joints that are driven against what touches
  reports       what a step tells of its contacts
  impulses      the step
  calls         what steps call at addresses
  touches       what touches where, without motion"""
