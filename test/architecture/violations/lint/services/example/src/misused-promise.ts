const isPaid = async (): Promise<boolean> => true;

export const describePayment = (): string => (isPaid() ? 'paid' : 'open');
