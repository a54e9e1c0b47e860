"""From tile IR to C: planning (which values get buffers, which loops are shared), then writing."""
