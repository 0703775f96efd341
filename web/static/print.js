// Printing: the button opens the dialog of the printer.
document.addEventListener('click', (event) => {
  if (event.target.matches('[data-print]')) print();
});
