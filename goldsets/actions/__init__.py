"""Every way in which `goldsets` is changed, one file per stage."""
