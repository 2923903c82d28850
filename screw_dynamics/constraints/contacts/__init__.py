"""Contacts: contact impulses with stops, dry friction and closed loops, as one problem a step.

  tables        inputs of a step with contacts, and memory
  motion        motion of colliding bodies, and relative motion at a contact
  search        the contacts of a step
  columns       their rows, and the Delassus operator
  problem       inputs and results of the cone solver
  restitution   impacts in a step
  servos        servos against contacts
  reports       the contact report of a step
  impulses      the step
  calls         functions that steps call at addresses
  touches       contact queries without motion"""
