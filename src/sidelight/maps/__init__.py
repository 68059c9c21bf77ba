"""Maps both ways and densities, from kernels on the training rows; each query row is answered by itself."""
