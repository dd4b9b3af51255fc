/** Version reported by the specification's machine-readable description. */
export const contractVersion = '2026-08-21';
