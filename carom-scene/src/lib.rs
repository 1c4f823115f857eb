//! carom-scene
