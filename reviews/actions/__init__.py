"""Every way in which `reviews` is changed, one file per stage. Page, API and command call the same function."""
