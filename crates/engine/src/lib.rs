//! The one API that front-ends call.
