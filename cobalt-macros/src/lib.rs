//! The attributes of cobalt.
