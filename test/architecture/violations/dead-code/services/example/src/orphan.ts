export const orphan = 'imported by nobody';
