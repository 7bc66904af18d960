//! Events as OpenTelemetry logs and metrics, and the outfile
