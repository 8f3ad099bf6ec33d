"""Write the generated pages and the pictures."""

from docs import looks, operation_sheet, picture
from docs.generate import make_pages

for path, text in make_pages().items():
    path.write_text(text, encoding="utf-8")
    print(path.name)
picture.main()
print("images/before-after.jpg, images/edits.jpg")
operation_sheet.main()
print("images/operations.jpg")
looks.main()
print("images/looks.jpg")
