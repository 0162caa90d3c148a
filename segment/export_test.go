package segment

// WriteZeros is how space is reserved where the system has no call for it.
var WriteZeros = writeZeros
