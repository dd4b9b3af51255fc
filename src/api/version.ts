/** Version that the specification's machine-readable description reports. */
export const contractVersion = '2026-08-21';
