//! carom-analysis
