export const greeting = 'single quotes';
