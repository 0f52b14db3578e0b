export const later = (action: () => void): void => {
  setTimeout(action, 1);
};
