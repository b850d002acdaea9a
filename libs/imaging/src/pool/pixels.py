"""Sources for renditions, and what they should have become: drawn and computed with Pillow alone.

    pixels.py make FOLDER       writes the sources and prints their names
    pixels.py compare CASES     reads cases from a JSON file and prints how far each rendition is from what it should be
"""

import io
import json
import sys
from pathlib import Path

from PIL import Image, ImageChops, ImageCms, ImageDraw, ImageOps

size = (240, 160)


def picture(turn=0):
    """Gradients that change in every direction, and a colour of its own in three of the corners."""
    bands = [Image.linear_gradient("L").rotate(90), Image.linear_gradient("L"), Image.radial_gradient("L")]
    image = Image.merge("RGB", [band.resize(size, Image.Resampling.BICUBIC) for band in bands])
    draw = ImageDraw.Draw(image)
    for corner, colour in (((0, 0), "#e02020"), ((200, 0), "#20c020"), ((0, 120), "#2020e0")):
        draw.rectangle((*corner, corner[0] + 39, corner[1] + 39), fill=colour)
    return image.rotate(turn)


def alpha():
    """Clear on the left, opaque on the right."""
    return Image.linear_gradient("L").rotate(90).resize(size, Image.Resampling.BICUBIC)


def make(folder):
    rgb, rgba, grey = picture(), picture(), picture().convert("L")
    rgba.putalpha(alpha())
    grey_alpha = Image.merge("LA", (grey, alpha()))
    deep = Image.frombytes("I;16", size, b"".join(bytes((value, value)) for value in grey.tobytes()))
    frames = [picture(turn) for turn in (0, 180, 90)]
    moving = {"save_all": True, "append_images": frames[1:], "duration": [100, 250, 400], "loop": 0}
    fine = {"quality": 95, "subsampling": 0}
    files = {
        "jpeg": (rgb, "JPEG", fine),
        "png": (rgb, "PNG", {}),
        "gif": (rgb, "GIF", {}),
        "webp": (rgb, "WEBP", {"quality": 95}),
        "avif": (rgb, "AVIF", {"quality": 95, "subsampling": "4:4:4"}),
        "tiff": (rgb, "TIFF", {"compression": "tiff_lzw"}),
        "progressive": (rgb, "JPEG", {**fine, "progressive": True}),
        "subsampled": (rgb, "JPEG", {"quality": 95, "subsampling": 2}),
        "grey-jpeg": (grey, "JPEG", fine),
        "grey-png": (grey, "PNG", {}),
        "bilevel": (grey.convert("1"), "PNG", {}),
        "palette": (rgb.quantize(64), "PNG", {}),
        "grey-16": (deep, "PNG", {}),
        "grey-16-tiff": (deep, "TIFF", {}),
        "alpha-png": (rgba, "PNG", {}),
        "alpha-webp": (rgba, "WEBP", {"lossless": True}),
        "alpha-avif": (rgba, "AVIF", {"quality": 95}),
        "alpha-tiff": (rgba, "TIFF", {}),
        "grey-alpha": (grey_alpha, "PNG", {}),
        "cmyk": (rgb.convert("CMYK"), "JPEG", fine),
        "pixel": (Image.new("RGB", (1, 1), "#d04080"), "PNG", {}),
        "moving-gif": (frames[0], "GIF", moving),
        "moving-webp": (frames[0], "WEBP", {**moving, "lossless": True}),
    }
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = orientation
        files[f"turned-{orientation}"] = (rgb, "JPEG", {**fine, "exif": exif})
    for name, (image, kind, options) in files.items():
        image.save(Path(folder) / name, kind, **options)
    print(json.dumps(sorted(files)))


def frames_of(path):
    """Each frame as RGBA in sRGB, the way its camera was held, and how long it stays."""
    with Image.open(path) as opened:
        for index in range(getattr(opened, "n_frames", 1)):
            opened.seek(index)
            opened.load()
            yield in_srgb(ImageOps.exif_transpose(opened)), opened.info.get("duration")


def in_srgb(image):
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I"):
        image = image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    if profile and image.mode in ("RGB", "CMYK"):
        embedded = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        image = ImageCms.profileToProfile(image, embedded, ImageCms.createProfile("sRGB"), outputMode="RGB")
    return image.convert("RGBA")


def fitted(image, case):
    """The frame in its fit, in Pillow's own terms."""
    lanczos = Image.Resampling.LANCZOS
    box, fit = (case["width"], case["height"]), case["fit"]
    if image.width <= box[0] and image.height <= box[1] and fit != "contain":
        return image
    if fit == "fill":
        return image.resize(box, lanczos)
    if fit == "inside":
        return ImageOps.contain(image, box, lanczos)
    if fit == "outside":
        return ImageOps.cover(image, box, lanczos)
    if fit == "contain":
        inside = image if image.width <= box[0] and image.height <= box[1] else ImageOps.contain(image, box, lanczos)
        canvas = Image.new("RGBA", box, (255, 255, 255, 0))
        canvas.paste(inside, ((box[0] - inside.width) // 2, (box[1] - inside.height) // 2))
        return canvas
    scaled = ImageOps.cover(image, box, lanczos)
    x, y = case.get("focalPoint") or (0.5, 0.5)
    left = min(max(0, round(x * scaled.width - box[0] / 2)), scaled.width - box[0])
    top = min(max(0, round(y * scaled.height - box[1] / 2)), scaled.height - box[1])
    return scaled.crop((left, top, left + box[0], top + box[1]))


def over(image, colour):
    return Image.alpha_composite(Image.new("RGBA", image.size, colour), image).convert("RGB")


def distance(made, wanted, colours):
    """The mean difference of all samples over each colour, the worst of them, and the same of the worst hundredth."""
    mean, high = 0, 0
    for colour in colours:
        bands = ImageChops.difference(over(made, colour), over(wanted, colour)).split()
        counts = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2]).histogram()
        total, seen, at = sum(counts), 0, 0
        while seen < 0.99 * total:
            seen += counts[at]
            at += 1
        means = [sum(value * count for value, count in enumerate(band.histogram())) / total for band in bands]
        mean, high = max(mean, sum(means) / 3), max(high, at - 1)
    return mean, high


def compare(cases):
    results = []
    for case in cases:
        made = list(frames_of(case["made"]))
        wanted = [(fitted(image, case), shown) for image, shown in frames_of(case["source"])][: len(made)]
        colours = ["#ffffff", "#000000"]
        if case.get("under"):
            wanted = [(over(image, case["under"]).convert("RGBA"), shown) for image, shown in wanted]
        sizes = [made[0][0].size, wanted[0][0].size]
        distances = [distance(a, b, colours) for (a, _), (b, _) in zip(made, wanted)] if sizes[0] == sizes[1] else []
        with Image.open(case["made"]) as opened:
            kind, left = opened.format, sorted(set(opened.info) & {"exif", "icc_profile", "xmp", "photoshop", "comment"})
        results.append(
            {
                "kind": kind,
                "size": sizes[0],
                "wanted": sizes[1],
                "metadata": left,
                "frames": [shown for _, shown in made],
                "mean": max((mean for mean, _ in distances), default=None),
                "high": max((high for _, high in distances), default=None),
            }
        )
    print(json.dumps(results))


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    compare(json.loads(Path(sys.argv[2]).read_text()))
