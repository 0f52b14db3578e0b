export const greeting = "double quotes"
