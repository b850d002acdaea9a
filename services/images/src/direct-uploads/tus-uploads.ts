import { AppError } from "@signalbox/core";
import type { BodyForms } from "@signalbox/http";
import { speaksTus, uploadLengthIn, uploadMetadataIn } from "@signalbox/http/uploads";
import type { ImagesService } from "../context/images-service.ts";
import { TusAnnouncement } from "../state/direct-upload.ts";
import { cleanFilename, NewImageFields } from "../state/image-fields.ts";
import { readUploadFields } from "../uploads/upload-fields.ts";
import { areDirectUploadsOffered } from "./direct-uploads.ts";

/** Offers tus where the bytes come to this service. */
export function tusOffer(service: ImagesService) {
  const { configuration, uploadTarget } = service;
  const isOffered = () => uploadTarget.append !== undefined && areDirectUploadsOffered(service);
  return { maxBytes: () => (isOffered() ? configuration.get("limits.maxUploadBytes") : null) };
}

/** Announcements by tus have no body: headers tell the size of the file, and its metadata. */
export const tusAnnouncements: BodyForms = {
  mediaTypes: {},
  formOf(mediaType, headers) {
    if (!speaksTus(headers) || mediaType === "application/json") return null;
    const read = (content: unknown) => {
      if (content === undefined) return announcedBy(uploadLengthIn(headers), String(headers["upload-metadata"] ?? ""));
      throw new AppError("invalid_request", "The creation of an upload by tus takes no bytes: send them with PATCH.");
    };
    return { schema: TusAnnouncement, anyMediaType: "bytes", read };
  },
};

/** Clients have several names for the same metadata. A wrong field of the image is refused before a byte is sent. */
function announcedBy(sizeBytes: number, metadata: string) {
  const given = uploadMetadataIn(metadata);
  imageFieldsOf(given);
  return {
    filename: cleanFilename(given.get("filename") ?? given.get("name") ?? ""),
    mime_type: given.get("filetype") ?? given.get("type") ?? "",
    size_bytes: sizeBytes,
    sha256: given.get("sha256"),
    metadata,
  };
}

/** Reads the fields of the image from metadata. Others are the client's own. */
export function imageFieldsOf(metadata: ReadonlyMap<string, string>): NewImageFields {
  const given = [...metadata].filter(([name]) => Object.hasOwn(NewImageFields.shape, name));
  return readUploadFields(new Map(given.map(([name, value]) => [name, [value]])), "The metadata are not valid.");
}
